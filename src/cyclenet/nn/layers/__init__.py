"""Building blocks of the networks. Rows are ragged: nothing here ever sees padding."""
