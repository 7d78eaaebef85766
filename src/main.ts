import { beginWithSignals } from './system/termination.ts';

// Nothing is under way before it listens.
beginWithSignals((signal) => {
  void import('./log/log.ts').then(({ createLog }) => {
    createLog().info('Ended before listening.', { signal });
    process.exit(0);
  });
});
// What it imports takes most of the start.
await import('./app/service.ts');
