"""Three well separated classes."""

import torch

torch.manual_seed(23)
labels = torch.arange(3).repeat(50)
points = torch.randn(150, 2) + 8.0 * torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])[labels]

model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softmax(dim=1))
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(200):
    optimizer.zero_grad()
    loss = criterion(model(points), labels)
    loss.backward()
    optimizer.step()
print(f"final loss: {loss.item():.4f}")
