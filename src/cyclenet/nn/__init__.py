"""Networks: layers, encoders, backbones, and the model of the paper."""
