import { withstandHangup } from './hangup.ts';

withstandHangup();
// What it imports takes most of the start.
await import('./service.ts');
