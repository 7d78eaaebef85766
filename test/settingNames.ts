import { readConfig } from '../src/config.ts';
import { ConfigError } from '../src/config/environment.ts';

/** The name of every setting that the program reads. */
export function settingNames(): readonly string[] {
  const names = new Set<string>();
  const environment = new Proxy<Record<string, string>>(
    {},
    {
      get: (_values, name) => {
        names.add(String(name));
        return name === 'OPERATOR_CLIENT_AUTH' ? 'both' : '';
      },
    },
  );
  try {
    readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  return [...names];
}
