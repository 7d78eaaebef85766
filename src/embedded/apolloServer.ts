import type { ApolloServerPlugin } from '@apollo/server';
import { guardOperation } from '../graphql/operationGuard.ts';
import type { OperationLimits } from '../graphql/operationCost.ts';
import { endRequest, requestOf } from './mountedRequest.ts';

/** Guards the operations of an Apollo Server that has our fields. */
export function apolloServerPlugin(limits: OperationLimits): ApolloServerPlugin {
  return {
    requestDidStart: () =>
      Promise.resolve({
        async didResolveOperation({ schema, document, operation, request, contextValue }) {
          if (operation === undefined) return;
          const guarded = {
            schema,
            document,
            operation,
            variables: request.variables ?? {},
            caller: requestOf(contextValue).context.caller,
            accept: request.http?.headers.get('accept'),
          };
          guardOperation(guarded, limits);
        },
        async willSendResponse({ contextValue }) {
          endRequest(contextValue);
        },
      }),
  };
}
