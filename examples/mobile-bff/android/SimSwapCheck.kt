// For Apollo Kotlin 4. Not compiled here: no Android toolchain was available (docs/mobile-apps.md).

// The client. A 401 comes before any lookup or prompt, so the request may be sent once more with a
// new token; `renew` lets one of several requests renew it.

class TokenInterceptor(private val session: Session) : HttpInterceptor {
  private val renewing = Mutex()

  override suspend fun intercept(request: HttpRequest, chain: HttpInterceptorChain): HttpResponse {
    val token = session.accessToken()
    val response = chain.proceed(request.with(token))
    if (response.statusCode != 401) return response
    response.body?.close()
    return chain.proceed(request.with(renew(token)))
  }

  private suspend fun renew(refused: String): String = renewing.withLock {
    val current = session.accessToken()
    if (current != refused) current else session.refresh()
  }

  private fun HttpRequest.with(token: String) =
    newBuilder().addHeader("authorization", "Bearer $token").build()
}

val bff = ApolloClient.Builder()
  .serverUrl("https://bff.example/graphql")
  .autoPersistedQueries(httpMethodForHashedQueries = HttpMethod.Post)
  .addHttpInterceptor(TokenInterceptor(session))
  .build()

// The loop. Its collector's end (the screen is left, `repeatOnLifecycle(STARTED)`) ends the request
// and the wait.

sealed interface Verdict {
  data class Trusted(val e164: String) : Verdict
  data object Swapped : Verdict
  data class Pending(
    val retryAfterSeconds: Int,
    val expiresAt: String?,
    val offersAnotherWay: Boolean = false,
  ) : Verdict
  data object Declined : Verdict
  data object Unanswered : Verdict
  data object SignedOut : Verdict
  data class Unknown(val code: String) : Verdict
}

fun simSwapCheck(bff: ApolloClient): Flow<Verdict> = flow {
  val startedAt = TimeSource.Monotonic.markNow()
  while (true) {
    val verdict = judge(bff.query(MySimSwapQuery(maxAgeHours = 240)).execute())
    if (verdict !is Verdict.Pending) return@flow emit(verdict)
    if (startedAt.elapsedNow() > 10.minutes) return@flow emit(Verdict.Unanswered)
    emit(verdict.copy(offersAnotherWay = startedAt.elapsedNow() >= 30.seconds))
    delay(verdict.retryAfterSeconds.seconds)
  }
}

fun judge(response: ApolloResponse<MySimSwapQuery.Data>): Verdict {
  val number = response.data?.myPhoneNumber
  val check = number?.simSwapCheck
  val code = response.errors?.firstOrNull()?.extensions?.get("code") as? String ?: "NO_ANSWER"
  return when (check?.result) {
    SimSwapResult.SWAPPED -> Verdict.Swapped
    SimSwapResult.NOT_SWAPPED ->
      if (response.hasErrors()) Verdict.Unknown(code) else Verdict.Trusted(number.e164)
    SimSwapResult.UNKNOWN -> when (check.reason) {
      SimSwapUnknownReason.CONSENT_PENDING ->
        Verdict.Pending(maxOf(check.retryAfterSeconds ?: 0, 1), check.expiresAt)
      SimSwapUnknownReason.CONSENT_DENIED -> Verdict.Declined
      SimSwapUnknownReason.CONSENT_EXPIRED -> Verdict.Unanswered
      else -> Verdict.Unknown(check.reason?.rawValue ?: "NO_ANSWER")
    }
    // No answer, or a result that a later version of the BFF has.
    else -> {
      val http = response.exception as? ApolloHttpException
      if (http?.statusCode == 401 || code == "UNAUTHENTICATED") Verdict.SignedOut else Verdict.Unknown(code)
    }
  }
}
