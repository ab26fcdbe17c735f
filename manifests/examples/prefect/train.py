"""A flow that a Prefect worker runs as a Kubernetes Job on GPUs."""

from prefect import flow


@flow
def train(steps: int = 10) -> int:
    return steps


if __name__ == "__main__":
    train()
