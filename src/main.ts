import { beginWithSignals } from './system/termination.ts';

// Nothing is under way before it listens.
beginWithSignals((signal) => {
  void import('./log/log.ts').then(({ createLog }) => {
    createLog().info('ended before it listened', { signal });
    process.exit(0);
  });
});
// What it imports takes most of the start.
await import('./app/service.ts');
