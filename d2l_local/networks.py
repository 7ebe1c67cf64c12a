"""The networks that more than one section uses."""

from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """The residual block of He et al. (2016): two 3x3 convolutions around a shortcut.

    Maps a tensor of shape (n, in_channels, h, w) to (n, out_channels, ceil(h / strides), ceil(w / strides)).

    Args:
        in_channels, out_channels: numbers of channels.
        use_1x1conv: send the shortcut through a 1x1 convolution; needed where the block changes the
            number of channels or the resolution, because the two branches are added.
        strides: stride of the first convolution and of the shortcut's.
    """

    def __init__(self, in_channels, out_channels, use_1x1conv=False, strides=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=strides, padding=1)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1)
        self.conv3 = None
        if use_1x1conv:
            self.conv3 = nn.Conv2d(in_channels, out_channels, 1, stride=strides)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.bn2 = nn.BatchNorm2d(out_channels)

    def forward(self, X):
        Y = F.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        shortcut = X if self.conv3 is None else self.conv3(X)
        return F.relu(Y + shortcut)


def resnet18(num_classes, in_channels=1, width=64):
    """ResNet-18 for small images, such as the 28x28 pixels of Fashion-MNIST.

    Maps images of shape (n, in_channels, h, w) to logits of shape (n, num_classes). It differs from the
    network of He et al. (2016) in its first layers: a 3x3 convolution with stride 1 and no max pooling,
    so that a small image keeps its resolution.

    Args:
        num_classes: number of outputs.
        in_channels: channels of the images: 1 for grey, 3 for colour.
        width: channels of the first stage; each later stage has twice as many. The published network
            has 64; a narrower one is faster by about the square of the ratio.
    """

    def stage(in_channels, out_channels, strides=2):
        first = Residual(in_channels, out_channels, strides > 1, strides)
        return nn.Sequential(first, Residual(out_channels, out_channels))

    conv = nn.Conv2d(in_channels, width, kernel_size=3, padding=1)
    linear = nn.Linear(8 * width, num_classes)
    return nn.Sequential(
        nn.Sequential(conv, nn.BatchNorm2d(width), nn.ReLU()),
        stage(width, width, strides=1),
        stage(width, 2 * width),
        stage(2 * width, 4 * width),
        stage(4 * width, 8 * width),
        nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear),
    )
