import { fail } from './termination.ts';
import { ADD_USAGE, addOperator } from './operatorsAdd.ts';
import { CHECK_USAGE, checkOperators } from './operatorsCheck.ts';

// Such as `head`, which has seen enough.
process.stdout.on('error', () => process.exit(1));

const [command, ...words] = process.argv.slice(2);
switch (command) {
  case 'check':
    await checkOperators(words);
    break;
  case 'add':
    await addOperator(words);
    break;
  default:
    fail(`${CHECK_USAGE}\n${ADD_USAGE}`);
}
