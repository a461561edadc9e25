"""The network that classifies maps: eight convolutional layers (Kovaleva et al. 2019, 4.1)."""

import copy

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.optim.lr_scheduler import OneCycleLR

from workflow_scripts.core.model.training import Recipe, ShuffledIndices, train
from workflow_scripts.patterns.annotated_maps import CLASSES

SIDE = 32
CHANNELS = (16, 16, 32, 32, 64, 64, 64, 64)  # every second layer halves the map
BATCH = 32
AT_ONCE = 128  # maps; what the layers make of more does not fit into a core's cache
FAST = torch.channels_last  # of weights: a fifth faster on a CPU


def to_image(pattern: np.ndarray) -> torch.Tensor:
    """Maps [..., query, key] as float32 [..., SIDE, SIDE]; roots, to show faint structure."""
    maps = torch.from_numpy(np.ascontiguousarray(pattern, dtype=np.float32))
    flat = maps.reshape(-1, 1, *maps.shape[-2:])
    roots = (flat / flat.amax(dim=(-2, -1), keepdim=True)).sqrt()
    small = nn.functional.adaptive_avg_pool2d(roots, SIDE)
    return small.reshape(*maps.shape[:-2], SIDE, SIDE)


class PatternNetwork(nn.Module):
    """Eight convolutional layers with ReLU, averaged over the map, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        n_inputs = 1
        for number, channels in enumerate(CHANNELS):
            layers += [
                nn.Conv2d(n_inputs, channels, 3, stride=1 + number % 2, padding=1, bias=False),
                nn.BatchNorm2d(channels),
                nn.ReLU(),
            ]
            n_inputs = channels
        self.layers = nn.Sequential(*layers)
        self.out = nn.Linear(n_inputs, len(CLASSES))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits [map, class] of images [map, SIDE, SIDE]."""
        return self.out(self.layers(images[:, None]).mean(dim=(-2, -1)))


def fit(images: torch.Tensor, labels: torch.Tensor, recipe: Recipe) -> PatternNetwork:
    """A network trained on images [map, SIDE, SIDE] and labels [map]; all classes count alike."""
    torch.manual_seed(recipe.seed)
    network = PatternNetwork().to(memory_format=FAST)
    counts = torch.bincount(labels, minlength=len(CLASSES)).clamp(min=1)
    cross_entropy = nn.CrossEntropyLoss(weight=len(labels) / (len(CLASSES) * counts))

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        return cross_entropy(network(images[indices]), labels[indices])

    batches = ShuffledIndices(len(labels), recipe.batch_size, recipe.seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate, weight_decay=0.01)
    schedule = OneCycleLR(optimizer, recipe.learning_rate, total_steps=recipe.epochs * len(batches))
    train(network, batches, loss_of, recipe.epochs, schedule)
    return network.to(memory_format=torch.contiguous_format).eval()  # as files hold weights


def folded(network: PatternNetwork) -> PatternNetwork:
    """The same function as a trained network's, with normalizations within the convolutions."""
    fast = copy.deepcopy(network).eval()
    layers: list[nn.Module] = []
    for layer in fast.layers:
        if isinstance(layer, nn.BatchNorm2d):
            layers[-1] = fuse_conv_bn_eval(layers[-1], layer)
        else:
            layers.append(layer)
    fast.layers = nn.Sequential(*layers)
    return fast.to(memory_format=FAST)


def predict(network: PatternNetwork, images: torch.Tensor) -> np.ndarray:
    """Probability of each class, float32 [map, class], for images [map, SIDE, SIDE]."""
    with torch.inference_mode():
        parts = images.split(AT_ONCE)
        return torch.cat([network(part).softmax(-1) for part in parts]).numpy()
