"""Steps of a training, as text: the losses that they take, and what they do besides."""
