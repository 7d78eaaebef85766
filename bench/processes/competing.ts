import { AllocationCount } from './allocations.ts';
import { answer, type Answers } from './conversation.ts';
import { LoopWatch, readGauge } from './gauge.ts';

/** Where a contestant finds the operator. */
export interface OperatorAddress {
  readonly authUrl: string;
  readonly simSwapUrl: string;
}

/** The operator's address, from the command line. */
export function operatorAddress(): OperatorAddress {
  const [authUrl = '', simSwapUrl = ''] = process.argv.slice(2);
  return { authUrl, simSwapUrl };
}

/** Answers what a contestant of this process answers, and what the process uses. */
export function compete(answers: Answers): void {
  const watch = new LoopWatch();
  const count = new AllocationCount();
  answer({
    gauge: (wanted: { collectsGarbage: boolean }) => readGauge(wanted),
    watchLoop: () => watch.start(),
    loopDelay: () => watch.stop(),
    startPromises: () => count.startPromises(),
    stopPromises: () => count.stopPromises(),
    startBytes: () => count.startBytes(),
    stopBytes: () => count.stopBytes(),
    ...answers,
  });
}
