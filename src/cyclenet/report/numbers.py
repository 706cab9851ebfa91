"""Numbers as tables show them: with the digits they carry, none rounded into another claim."""

NOTHING = "-"
VOID = "n/a"

# Results that agree to six decimals are the same result.
EQUAL = 1e-6

_DECIMALS, _MOST_DECIMALS = 3, 6


def decimal(value: float | None, decimals: int | None = None) -> str:
    """A metric with three decimals.

    More are shown where three would turn almost all into all, or a little into nothing: 0.9998
    of the pairs is not every pair.

    Args:
        value: The number, or None.
        decimals: As many, or None to choose.

    Returns:
        The text; a dash for None.

    Example:
        >>> [decimal(value) for value in (0.5, 1.0, 0.99977, 4e-5, None)]
        ['0.500', '1.000', '0.9998', '0.00004', '-']
    """
    if value is None:
        return NOTHING
    if decimals is not None:
        return f"{value:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    if 0 < abs(value) < 0.5 * 10**-_MOST_DECIMALS:
        return f"{value:.0e}".replace("-", "\N{MINUS SIGN}")
    return decimal(value, decimals_of(value))


def decimals_of(value: float) -> int:
    """How many decimals `decimal` gives a number.

    Args:
        value: The number.

    Returns:
        Three, or more if three would say 0 or 1 of what is neither.
    """
    for decimals in range(_DECIMALS, _MOST_DECIMALS):
        rounded = round(value, decimals)
        if rounded not in (0, 1, -1) or value in (0, 1, -1):
            return decimals
    return _MOST_DECIMALS


def spread(mean: float | None, std: float | None) -> str:
    """A mean and its standard deviation, with equally many decimals.

    Args:
        mean: The mean, or None.
        std: The deviation, or None if there is none to show.

    Returns:
        The text; a dash without a mean.

    Example:
        >>> spread(0.03612, 0.00512), spread(1.0, None), spread(None, None)
        ('0.036 ± 0.005', '1.000', '-')
    """
    if mean is None or std is None:
        return decimal(mean)
    return f"{decimal(mean)} ± {decimal(std, decimals_of(mean))}"


def printed(value: float | None, std: float | None = None) -> str:
    """A number of the paper, with the digits it is printed with but at least two decimals.

    Args:
        value: The number, or None.
        std: Its spread, or None.

    Returns:
        The text; a dash for None.

    Example:
        >>> printed(0.5), printed(0.273, 0.059), printed(None)
        ('0.50', '0.273 ± 0.059', '-')
    """
    if value is None:
        return NOTHING
    shown = [value] if std is None else [value, std]
    decimals = max(2, *(len(repr(float(number)).partition(".")[2]) for number in shown))
    return " ± ".join(decimal(number, decimals) for number in shown)


def signed(value: float | None) -> str:
    """A difference with its sign.

    Args:
        value: The difference, or None.

    Returns:
        The text; a dash for None.

    Example:
        >>> signed(0.25), signed(-1e-17)
        ('+0.250', '0.000')
    """
    if value is None:
        return NOTHING
    if abs(value) < EQUAL:
        return decimal(0.0)
    return f"+{decimal(value)}" if value > 0 else decimal(value)


def microseconds(seconds: float | None) -> str:
    """A short time in microseconds, with the three digits it carries.

    Args:
        seconds: The time in seconds, or None.

    Returns:
        The number without its unit; a dash for None.

    Example:
        >>> (
        ...     microseconds(7.04e-4),
        ...     microseconds(1.456e-6),
        ...     microseconds(0.0123456),
        ...     microseconds(None),
        ... )
        ('704', '1.46', '12,300', '-')
    """
    if seconds is None:
        return NOTHING
    rounded = float(f"{1e6 * seconds:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


def times(ratio: float | None) -> str:
    """How many times more, with two digits: the third would not be there next time.

    Args:
        ratio: The ratio, or None.

    Returns:
        The text; a dash for None.

    Example:
        >>> times(1234.5), times(4.56), times(None)
        ('1,200x', '4.6x', '-')
    """
    return NOTHING if ratio is None else f"{rate(ratio)}x"


def whole(value: int | None) -> str:
    """A count, its thousands apart.

    Args:
        value: The count, or None.

    Returns:
        The text; a dash for None.

    Example:
        >>> whole(1051810), whole(95)
        ('1,051,810', '95')
    """
    return NOTHING if value is None else f"{value:,}"


def rate(per_second: float) -> str:
    """How many in a second, with two digits: more would not be there next time.

    Args:
        per_second: The rate.

    Returns:
        The text.

    Example:
        >>> rate(12345.6), rate(4.56)
        ('12,000', '4.6')
    """
    rounded = float(f"{per_second:.1e}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def duration(seconds: float | int | None) -> str:
    """Seconds with three significant digits, or in the unit people would say.

    Args:
        seconds: The seconds, or None.

    Returns:
        The text; a dash for None.

    Example:
        >>> [duration(seconds) for seconds in (0.0123, 4.28, 75.0, 7500)]
        ['0.0123 s', '4.28 s', '75 s', '2 h 5 min']
    """
    if seconds is None:
        return NOTHING
    if seconds >= 3600:
        hours, rest = divmod(round(seconds / 60), 60)
        return f"{hours} h {rest} min"
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.3g} s"
