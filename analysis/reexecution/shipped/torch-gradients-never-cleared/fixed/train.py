"""Linear regression by stochastic gradient descent."""

import torch

torch.manual_seed(22)
features = torch.randn(200, 5)
targets = features @ torch.randn(5, 1) + 0.1 * torch.randn(200, 1)

model = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(10):
    for start in range(0, 200, 20):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(
            model(features[start : start + 20]), targets[start : start + 20]
        )
        loss.backward()
        optimizer.step()

with torch.no_grad():
    print(f"final loss: {torch.nn.functional.mse_loss(model(features), targets):.4f}")
