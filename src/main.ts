import { withstandHangup } from './system/termination.ts';

withstandHangup();
// What it imports takes most of the start.
await import('./app/service.ts');
