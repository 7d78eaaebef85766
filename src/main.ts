import { withstandHangup } from './system/hangup.ts';

withstandHangup();
// What it imports takes most of the start.
await import('./app/service.ts');
