import type { Sleep } from './smsCode.ts';

/** Waits on the timers that browsers and React Native have; rejects as soon as the signal says so. */
export function pause(leaving: AbortSignal): Sleep {
  return (ms) =>
    new Promise((resolve, reject) => {
      if (leaving.aborted) return reject(new Error('left'));
      const leave = (): void => {
        clearTimeout(timer);
        reject(new Error('left'));
      };
      const timer = setTimeout(() => {
        leaving.removeEventListener('abort', leave);
        resolve();
      }, ms);
      leaving.addEventListener('abort', leave, { once: true });
    });
}
