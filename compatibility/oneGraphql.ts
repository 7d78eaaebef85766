import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const ofSources = createRequire(new URL('../package.json', import.meta.url));
let isResolving = false;

// One graphql for the sources and for the packages here: two copies do not know each other's schemas.
registerHooks({
  resolve(specifier, context, next) {
    if (isResolving || !/^graphql(?:\/|$)/.test(specifier)) return next(specifier, context);
    // This hook is called for what it resolves as well.
    isResolving = true;
    try {
      return { url: pathToFileURL(ofSources.resolve(specifier)).href, shortCircuit: true };
    } finally {
      isResolving = false;
    }
  },
});
