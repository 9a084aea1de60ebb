"""The training loop that every model shares: pure, on torch. It knows nothing of the model and nothing of who watches.

`loop` takes a learner (`loop.Learner`: the module, and how a batch adds to its gradients), a schedule (`schedule`:
which rows in which step, how high the learning rate) and a plan (`plan`), and keeps checkpoints (`checkpoints`) from
which a training that was killed goes on to the same weights.
"""
