"""One step of training, on the GPU where there is one."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(24)
model = torch.nn.Linear(6, 2).to(device)
batch = torch.randn(16, 6).to(device)
targets = torch.randint(0, 2, (16,)).to(device)

loss = torch.nn.functional.cross_entropy(model(batch), targets)
loss.backward()
print(f"loss: {loss.item():.4f} on {device.type}")
