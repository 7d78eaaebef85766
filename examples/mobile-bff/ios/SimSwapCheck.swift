// For Apollo iOS 2. Not compiled here: no iOS toolchain was available (docs/mobile-apps.md).

// The client. `autoPersistQueries` sends the document's id; without it Apollo iOS sends the document,
// which the BFF refuses. The interceptor gets a token from your session each time, so that an expired
// one is renewed before it is sent; a 401 is then `signedOut`.

struct TokenInterceptor: HTTPInterceptor {
  let session: Session

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    var request = request
    // Renews it when it is about to expire; an actor, so that one of several requests does.
    let token = try await session.accessToken()
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    return try await next(request)
  }
}

struct Interceptors: InterceptorProvider {
  let session: Session

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    [TokenInterceptor(session: session)] + DefaultInterceptorProvider.shared.httpInterceptors(for: operation)
  }
}

func makeBff(session: Session) -> ApolloClient {
  let store = ApolloStore(cache: InMemoryNormalizedCache())
  let transport = RequestChainNetworkTransport(
    urlSession: URLSession(configuration: .ephemeral),
    interceptorProvider: Interceptors(session: session),
    store: store,
    endpointURL: URL(string: "https://bff.example/graphql")!,
    apqConfig: AutoPersistedQueryConfiguration(autoPersistQueries: true)
  )
  return ApolloClient(networkTransport: transport, store: store)
}

// The loop; cancel the task that reads it when the screen is left, and when `scenePhase` is not
// `.active`.

enum Verdict {
  case trusted(e164: String), swapped, declined, unanswered, signedOut
  case pending(retryAfterSeconds: Int, expiresAt: String?, offersAnotherWay: Bool = false)
  case unknown(code: String)
}

func simSwapCheck(_ bff: ApolloClient) -> AsyncThrowingStream<Verdict, Error> {
  AsyncThrowingStream { continuation in
    let task = Task {
      let startedAt = ContinuousClock.now
      while true {
        let verdict = await ask(bff)
        guard case let .pending(retryAfterSeconds, expiresAt, _) = verdict else {
          continuation.yield(verdict)
          return continuation.finish()
        }
        let waited = ContinuousClock.now - startedAt
        if waited > .seconds(600) {
          continuation.yield(.unanswered)
          return continuation.finish()
        }
        continuation.yield(
          .pending(
            retryAfterSeconds: retryAfterSeconds,
            expiresAt: expiresAt,
            offersAnotherWay: waited >= .seconds(30)
          ))
        // Throws, and so ends, when the task is cancelled.
        do { try await Task.sleep(for: .seconds(retryAfterSeconds)) }
        catch { return continuation.finish(throwing: error) }
      }
    }
    continuation.onTermination = { _ in task.cancel() }
  }
}

func ask(_ bff: ApolloClient) async -> Verdict {
  do {
    let query = SimSwapAPI.MySimSwapQuery(maxAgeHours: 240)
    return judge(try await bff.fetch(query: query, cachePolicy: .networkOnly))
  } catch let error as ResponseCodeInterceptor.ResponseCodeError where error.response.statusCode == 401 {
    return .signedOut
  } catch {
    return .unknown(code: "NO_ANSWER")
  }
}

func judge(_ response: GraphQLResponse<SimSwapAPI.MySimSwapQuery>) -> Verdict {
  let number = response.data?.myPhoneNumber
  let check = number?.simSwapCheck
  let code = response.errors?.first?.extensions?["code"] as? String ?? "NO_ANSWER"
  switch check?.result {
  case .case(.swapped):
    return .swapped
  case .case(.notSwapped):
    guard let number, response.errors?.isEmpty ?? true else { return .unknown(code: code) }
    return .trusted(e164: number.e164)
  case .case(.unknown):
    switch check?.reason {
    case .case(.consentPending):
      return .pending(retryAfterSeconds: max(check?.retryAfterSeconds ?? 0, 1), expiresAt: check?.expiresAt)
    case .case(.consentDenied): return .declined
    case .case(.consentExpired): return .unanswered
    default: return .unknown(code: check?.reason?.rawValue ?? "NO_ANSWER")
    }
  // No answer, or a result that a later version of the BFF has.
  default:
    return code == "UNAUTHENTICATED" ? .signedOut : .unknown(code: code)
  }
}
