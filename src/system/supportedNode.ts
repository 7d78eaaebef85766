const { node } = process.versions;

// The first import of each entry of the package: on an older Node another import would fail without naming the reason.
if (Number(node.split('.')[0]) < 24) {
  const error = new Error(`sim-swap-subgraph needs Node 24 or newer; this is Node ${node}.`);
  error.stack = error.message;
  throw error;
}
