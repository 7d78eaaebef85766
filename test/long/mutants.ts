interface Part {
  readonly file: string;
  /** Each mutant must fail one of them. */
  readonly tests: readonly string[];
  /** Each text is there once. */
  readonly mutants: readonly (readonly [old: string, mutated: string])[];
}

/** By the promise that they break: answers, lookups, tokens, prompts, seals, quotas, the audit log. */
export const PARTS: readonly Part[] = [
  {
    file: 'src/domain/deduction.ts',
    tests: ['test/domain/deduction.test.ts', 'test/lookups/planner', 'test/factHistories'],
    mutants: [
      ['fact.swapped && fact.maxAgeHours * HOUR_MS <= windowMs', 'fact.swapped'],
      ['if (facts.some(saysSwapped)) {', 'if (facts.length > 0) {'],
      ['sentAtMs - windowMs + marginMs(fact, trust)', 'sentAtMs - windowMs'],
      [
        'isDisclosed(fact) ? unchangedMs > windowMs :',
        'isDisclosed(fact) ? unchangedMs >= windowMs :',
      ],
      ['latestSimChange.epochMs - marginMs(fact, trust);', 'latestSimChange.epochMs;'],
      ['other.replyId === fact.replyId', 'false'],
      ['changedAtMs > fact.leftAtMs;', 'changedAtMs > sinceMs;'],
      ['!trustMonitoredPeriod || monitoredPeriodDays', 'monitoredPeriodDays'],
      ['monitoredPeriodDays * 24 - dateMarginHours', 'monitoredPeriodDays * 24'],
      ['if (sayingTrue.length > 0)', 'if (sayingTrue.length > 1)'],
      ['!unrequested.some(isOutdated)', 'true'],
    ],
  },
  {
    file: 'src/lookups/planner.ts',
    tests: ['test/lookups/planner', 'test/lookups/sharedLookups', 'test/lookups/equalRequests'],
    mutants: [
      [
        'ascending[Math.floor(ascending.length / 2)] : ascending.at(-1)',
        'ascending[0] : ascending.at(-1)',
      ],
      [': ascending.at(-1);', ': ascending[0];'],
      ["case 'date':\n        return RETRIEVE_DATE;", "case 'date':\n        break;"],
      [
        'if (maxAgeHours > offer.maxAgeHours) return',
        'if (maxAgeHours > offer.maxAgeHours + 1) return',
      ],
      ["&& failure.code === 'PERIOD_NOT_SUPPORTED'", ''],
      ['facts.length === 0 &&\n    failures.length > 0', 'failures.length > 0'],
      ['.toSorted((one, other) => one.leftAtMs - other.leftAtMs)', ''],
      ['underWay.maxAgeHours >= wanted.maxAgeHours', 'underWay.maxAgeHours > wanted.maxAgeHours'],
      [' ?? equalRequest(lookup, plan, offer);', ';\n  void equalRequest;'],
      ['(answered.some((made) => readsAll(made) && isEqual(made))', '(false'],
    ],
  },
  {
    file: 'src/resilience/dpopExchanges.ts',
    tests: ['test/endToEnd/nonces', 'test/resilience/dpopExchanges'],
    mutants: [
      ['named === this.#sent ? undefined : named', 'named'],
      ['if (isUnproven === true) return LOST;', ''],
      ['challenges === MAX_CHALLENGES', 'challenges === 1'],
      ['    this.challenged.add(right);\n', ''],
      ['isLookup ? 401 : 400', '401'],
      ['return this.#underWay === 0 && this.challenged.size === 0;', 'return true;'],
      ['!mayLearnNonce(exchange)', 'true'],
      ['    for (const right of this.challenged) this.#letEnter(right);\n', ''],
      [": exchange.fault.cause !== 'timeout';", ': true;'],
      ['named ?? accepted', 'accepted ?? named'],
      ["=== 'use_dpop_nonce' ||", "!== '' ||"],
    ],
  },
  {
    file: 'src/tokens/dpop.ts',
    tests: ['test/tokens/dpop', 'test/endToEnd/nonces'],
    mutants: [
      ['{ ath: sha256(accessToken) }', '{}'],
      ['{ nonce }', '{}'],
      ['jti: randomUUID()', "jti: 'one'"],
      ['htu: address', 'htu: url'],
      ["{ 'camara:bh': sha256(body) }", '{}'],
      ["{ 'camara:qh': sha256(query) }", '{}'],
      ['this.#clock.nowMs() / 1000', 'this.#clock.nowMs()'],
    ],
  },
  {
    file: 'src/tokens/tokenManager.ts',
    tests: ['test/tokens/tokenManager'],
    mutants: [['return holder === this.#holder;', 'return true;']],
  },
  {
    file: 'src/tokens/reusedTokens.ts',
    tests: ['test/endToEnd/revokedTokens', 'test/tokens/reuse'],
    mutants: [
      ["if (this.isBarred) return 'refused';", ''],
      ['if (issuedAtMs < this.#triedAtMs) return', 'if (false) return'],
      ['trial.resolve(!isRefused);', 'trial.resolve(true);'],
    ],
  },
  {
    file: 'src/domain/fact.ts',
    tests: ['test/lookups/planner'],
    mutants: [
      ['failed.maxAgeHours <= lookup.maxAgeHours', 'failed.maxAgeHours === lookup.maxAgeHours'],
    ],
  },
  {
    file: 'src/consents/consentRecord.ts',
    tests: ['test/consents', 'test/consentHistories', 'test/lookups/afterConsent'],
    mutants: [
      ['redeemableUntilMs: sentAtMs + lifeMs', 'redeemableUntilMs: nowMs + 2 * lifeMs'],
      ["(goOn === 'slow_down' ? SLOW_DOWN_MS : 0)", '0'],
      ['barsUntilMs(consent) > nowMs', 'barsUntilMs(consent) >= nowMs'],
      ['Math.max(deniedMs, MIN_DENIED_MS)', 'deniedMs'],
      ['operator === at || failure.isUnknownNumber !== true', 'true'],
      ["isGranted && kind === 'expired' ? undefined : withLearned", 'withLearned'],
      [
        'Math.max(retryAfterSeconds * 1000, unpromptedMs)',
        'retryAfterSeconds * 1000 || unpromptedMs',
      ],
      ['failureMs * 2 ** Math.min(unanswered, MAX_DOUBLINGS)', 'failureMs'],
      ['end.asker === asker || OPERATOR_TROUBLE', 'end.asker !== undefined || OPERATOR_TROUBLE'],
      ['2 * end.untilMs - end.atMs', 'end.untilMs'],
      [
        "    case 'granted':\n      return [failed",
        "    case 'granted':\n      return [expired(consent, atMs, rules.resultMs) ?? failed",
      ],
      ['if (doubtUntilMs > nowMs) return inDoubt(pending, nowMs, doubtUntilMs);\n', ''],
      ['if (ends.some(({ id }) => id === lives.id)) return undefined;\n', ''],
      ['>= PROGRESS[lives.state]', '> PROGRESS[lives.state]'],
      [
        'consent?.id === learned.id ? withLearned(found, learned) : undefined',
        'withLearned(found, learned)',
      ],
    ],
  },
  {
    file: 'src/consents/consentView.ts',
    tests: ['test/consents', 'test/consentHistories'],
    mutants: [
      ['consent.asker === callerKey\n        ? ownView', 'true\n        ? ownView'],
      ['if (!operators.has(consent.operator)) return inDoubt;', ''],
      ['ends: ends.filter((end) => end.asker === callerKey)', 'ends'],
      [' && barsOthersUntilMs(end) > nowMs', ''],
      ['} else if (doubtUntilMs > nowMs) {', '} else if (false) {'],
      ['if (doubtUntilMs > nowMs) return inDoubt;', ''],
      ['record.ends.filter(({ untilMs }) => untilMs > nowMs)', 'record.ends'],
      [".filter(({ kind }) => kind !== 'answered').length >= MAX_ENDS", '.length > 1000'],
    ],
  },
  {
    file: 'src/consents/consentLedger.ts',
    tests: [
      'test/lookups/afterConsent',
      'test/lookups/consentedLookups',
      'test/lookups/sharedConsents',
      'test/consentHistories',
    ],
    mutants: [
      ['doubtUntilMs: nowMs + rules.doubtMs', 'doubtUntilMs: nowMs + rules.leaseMs'],
      ['if (claim.nowMs + exchangeMs < leaseUntilMs) return claim;', 'return claim;'],
      ['version: undefined, leaseUntilMs', 'version, leaseUntilMs'],
      ['doubtUntilMs === undefined ? lost', 'true ? lost'],
      ['isShared ? rules.doubtMs', 'isShared ? MAX_LIFE_MS'],
      ['this.#time = clockElsewhere(written.nowMs, sentAtMs, repliedAtMs);\n', ''],
      ["(state !== 'free' && isFresh)", "state !== 'free'"],
    ],
  },
  {
    file: 'src/consents/nextStep.ts',
    tests: [
      'test/consents/nextStep',
      'test/lookups/afterConsent',
      'test/lookups/sharedConsents',
      'test/consentHistories',
    ],
    mutants: [
      ['recalledAtMs + time.minAheadMs <= end.atMs', 'false'],
      ['recalledAtMs > nowMs - time.minAheadMs - RECALL_HOLDS_MS', 'true'],
      [
        "ends.every(({ kind }) => kind === 'failed')",
        "ends.every(({ kind }) => kind !== 'answered')",
      ],
      [
        "ends.every(({ kind }) => kind === 'failed')",
        "ends.every(({ kind }) => kind !== 'expired')",
      ],
      ["if (needs.includes('before-prompt')) return recall(true);", ''],
      ['isRecent && recall?.version === version', 'false'],
      ['page === undefined || known.readFor !== operator', 'page === undefined'],
    ],
  },
  {
    file: 'src/lookups/redisFactCache.ts',
    tests: ['test/lookups/factCache'],
    mutants: [
      ['leftAtMs: leftAtMs + server.minAheadMs', 'leftAtMs: leftAtMs + server.maxAheadMs'],
      [
        'repliedAtMs: repliedAtMs + server.maxAheadMs',
        'repliedAtMs: repliedAtMs + server.minAheadMs',
      ],
      ['Math.max(0, nowMs - kept.repliedAtMs)', '(nowMs - kept.repliedAtMs)'],
    ],
  },
  {
    file: 'src/sharedState/sharedRedis.ts',
    tests: ['test/sharedState/sharedRedis'],
    mutants: [['? [(sentAtMs + server.minAheadMs).toFixed(3), lastMoment', '? [0, lastMoment']],
  },
  {
    file: 'src/consents/redisScripts.ts',
    tests: ['test/consents/consentStore'],
    mutants: [
      ['if ARGV[1] == epoch and tonumber(ARGV[2]) > writes then', 'if false then'],
      ["if version ~= ARGV[4] then return { 'conflict', nowText, writes, behind } end", ''],
      ['epoch + 2 * removals + (doubtUntilMs and 1 or 0)', 'epoch + 2 * removals'],
      ["if behind ~= '' then return { 'conflict', nowText, writes, behind } end", ''],
    ],
  },
  {
    file: 'src/consents/consentFlow.ts',
    tests: [
      'test/lookups/afterConsent',
      'test/lookups/consentedLookups',
      'test/lookups/sharedConsents',
      'test/consentHistories',
    ],
    mutants: [
      ['this.#waiters.remove(waiter);\n', ''],
      ['bulkhead.release(acquiredAtMs);\n', ''],
      ["judged.kind === 'failed' && !mayHaveBeenCarriedOut && outlives", 'false'],
      [
        'this.#unspent(claim, claim.consent, admitted.failure)',
        'this.#unspent(claim, { ...claim.consent, untilMs: 0 }, admitted.failure)',
      ],
      ['const { leaseUntilMs: _, ...lives } = granted;', 'const lives = granted;'],
      [
        'keeping = this.#keep(fact, request, spent);',
        'keeping = admitted.ended(ending).then(() => this.#keep(fact, request, spent));',
      ],
    ],
  },
  {
    file: 'src/tokens/accessToken.ts',
    tests: ['test/tokens'],
    mutants: [
      ['this.#value = undefined;\n', ''],
      [' || subject.operation !== this.subject.operation', ''],
      ['monotonicMs >= this.#expires', 'monotonicMs > this.#expires'],
    ],
  },
  {
    file: 'src/wire/echo.ts',
    tests: ['test/wire/endpointEcho', 'test/operator/silentReplies'],
    mutants: [
      ['if (status >= 200 && status < 300) {', 'if (false) {'],
      ['if (echoed !== undefined) {', 'if (echoed !== undefined && status < 300) {'],
      ["return way === 'kept connection' ? 'unproven' : 'proven';", "return 'proven';"],
    ],
  },
  {
    file: 'src/resilience/retries.ts',
    tests: ['test/resilience'],
    mutants: [
      ['return sent ? NONE : retryWith(', 'return retryWith('],
      ['rules.retriesDoubtfulLookups && rules', 'rules'],
    ],
  },
  {
    file: 'src/sharedState/stateSeals.ts',
    tests: ['test/sharedState/stateKeyRotation', 'test/consents'],
    mutants: [
      ['.setAAD(Buffer.from(place));\n    const sealed', ';\n    const sealed'],
      [
        "createHmac('sha256', this.#nameKey).update(JSON.stringify(parts))",
        "createHmac('sha256', 'key').update(JSON.stringify(parts))",
      ],
    ],
  },
  {
    file: 'src/caller/quotas/memoryCounts.ts',
    tests: ['test/caller/quotas/counts'],
    mutants: [
      ['>= claim.limit', '> claim.limit'],
      ['if (claimedBy !== 1) return;', ''],
      ['Math.max(0, (window.counts.get(count) ?? 0) - 1)', 'window.counts.get(count) ?? 0'],
    ],
  },
  {
    file: 'src/caller/quotas/sharedCounts.ts',
    tests: ['test/caller/quotas/counts'],
    mutants: [
      ['if known then return known end', ''],
      ['if result[1] > 0 then return result end', ''],
      ['waiting.splice(0, MAX_OPERATIONS)', 'waiting.splice(0)'],
      ['operation.isDropped = outcome === undefined;', ''],
      ['await afterReads();', ''],
      ['late === undefined || late.over !== undefined', 'late !== undefined'],
      ["from == '' or tonumber(from) == tonumber(opened)", 'true'],
    ],
  },
  {
    file: 'src/caller/quotas/quotas.ts',
    tests: ['test/caller/quotas/quotas', 'test/caller/callerAuthorizer'],
    mutants: [['        await giveBack();\n', '']],
  },
  {
    file: 'src/caller/callerAuthorizer.ts',
    tests: ['test/caller/callerAuthorizer', 'test/caller/audited'],
    mutants: [
      [
        "return isAnonymous || isBoughtByConsent(action) ? [] : ['lookup'];",
        "return isAnonymous ? [] : ['lookup'];",
      ],
      ['consentId !== undefined && isFurther !== true', 'consentId !== undefined'],
      [
        "await giveBackAll();\n      return { kind: 'denied', failure };",
        "return { kind: 'denied', failure };",
      ],
      ['|| signal.reason instanceof CallerGone', ''],
    ],
  },
  {
    file: 'src/graphql/body.ts',
    tests: ['test/graphql/http', 'test/graphql/hostile'],
    mutants: [
      ['> maxBodyValues', '> maxBodyValues + 1'],
      ['at += byte === BACKSLASH ? 2 : 1;', 'at += 1;'],
      ['byte === COMMA || ', ''],
    ],
  },
  {
    file: 'src/graphql/bodyPace.ts',
    tests: ['test/graphql/bodyPace'],
    mutants: [
      ['body.pause();', ''],
      ['const READS_A_TURN = 4;', 'const READS_A_TURN = 40;'],
      ['setImmediate(this.#turn);\n  };', '\n  };'],
    ],
  },
  {
    file: 'src/graphql/operationCost.ts',
    tests: ['test/graphql/operationCost'],
    mutants: [
      ["? typeof value === 'string'", '? true'],
      ['Array.isArray(value) && value.every', '[value].flat().every'],
    ],
  },
  {
    file: 'src/graphql/httpServer.ts',
    tests: ['test/graphql/httpServer'],
    mutants: [["if (bodyComesStill(response.req)) headers['connection'] = 'close';\n", '']],
  },
  {
    file: 'src/graphql/parsedRequests.ts',
    tests: ['test/graphql/httpServer'],
    mutants: [
      ['super(socket);\n      countParsed(socket);', 'super(socket);'],
      ['socket !== parsed && ', ''],
      ['if (!isBusy(socket)) return', 'return'],
      ['for (const socket of read) socket.pause();\n', ''],
      ['newOnes.call(() => socket.resume())', 'setImmediate(() => socket.resume())'],
    ],
  },
  {
    file: 'src/graphql/refusedBodies.ts',
    tests: ['test/graphql/httpServer', 'test/graphql/bodyPace'],
    mutants: [
      ['this.#dropping.hold(held, READ_BYTES)', '{}'],
      ['this.#pace.await(request, UNKNOWN_CALLER);', '{}'],
      ['holdNothingOf(response.req);\n', ''],
      ['this.#pace.turn(REFUSED, resolve);', 'resolve();'],
      ["response.once('close', resolve);\n", ''],
    ],
  },
  {
    file: 'src/graphql/unreadReplies.ts',
    tests: ['test/graphql/httpServer'],
    mutants: [['if (this.#bytes <= this.#maxBytes || oldest === unread) return;', 'return;']],
  },
  {
    file: 'src/graphql/turns.ts',
    tests: ['test/graphql/turns'],
    mutants: [
      ['queue.spentMs += tookMs;', ''],
      ['next === undefined || spentMs < next[1].spentMs', 'next === undefined'],
      ['Math.max(queue.spentMs, this.#fairShareMs);\n      this', 'this.#fairShareMs;\n      this'],
      ['this.#fairShareMs += tookMs / (1 + this.#waiting);', ''],
      ['this.#tookMs < TURN_MS', 'true'],
      ['Math.min(this.#requests, MAX_A_TURN)', 'this.#requests'],
    ],
  },
  {
    file: 'src/system/acceptance.ts',
    tests: ['test/graphql/turns'],
    mutants: [
      ['this.#hasAccepted && this.#aheadMs > 0', 'this.#hasAccepted'],
      ['this.#hasAccepted = false;\n    return', 'return'],
      ['Math.min(MAX_AHEAD_MS, this.#aheadMs + passedMs)', 'MAX_AHEAD_MS'],
    ],
  },
  {
    file: 'src/resilience/bulkhead.ts',
    tests: ['test/resilience/bulkhead', 'test/lookups/afterConsent'],
    mutants: [
      ['lateMs > 0 || place', 'place'],
      ["lateMs <= 0 ? 'acquired' : crowded(lateMs)", "'acquired'"],
      ['const STEADY_FACTOR = 1.25;', 'const STEADY_FACTOR = 1;'],
      ['this.#rounds += 1 / this.#size.permits;', ''],
    ],
  },
  {
    file: 'src/caller/gate.ts',
    tests: ['test/caller/gate'],
    mutants: [['presented !== undefined && matches.includes(true)', 'matches.includes(true)']],
  },
  {
    file: 'src/caller/audit/auditLog.ts',
    tests: ['test/caller/audit/auditLog'],
    mutants: [
      ["(this.#isTorn ? '\\n' : '') + batch.text", 'batch.text'],
      ['of [batch, this.#waiting]', 'of [batch]'],
    ],
  },
];
