/** Refuses requests while this process has more to do than it can (docs/decisions/0030-overload.md). */
import { minuteMs } from '../shared/index.ts';
import type { AdmissionGate, Load } from './direct-dispatcher.ts';
import { type Importance, type ImportanceSettings, importanceBy, shares } from './importance.ts';
import type { Logger } from './log.ts';
import type { OverloadAnswers } from './overload-answers.ts';
import { minWaiting, needsSession, type PasswordQueueSettings, watchPasswordQueue } from './password-posts.ts';

type RefusalReason = 'requests' | 'delay' | 'passwords';

interface OverloadLimits {
  /** Requests in progress. */
  requests: number;
  /** Length of a turn of the event loop from which on visits are refused. */
  turnMs: number;
}

/** One long turn alone may be a loaded module, or a machine that was busy elsewhere. */
const singleTurn = 4;
/** With fewer requests a long turn is no overload by requests, and refusing them would not shorten it. */
const minRequests = 20;

/** The rule: what is refused at this load, and why. Undefined: the request is admitted. */
export function findRefusal(importance: Importance, load: Load, limits: OverloadLimits): RefusalReason | undefined {
  const share = shares[importance];
  if (load.inProgress >= limits.requests * share.requests) return 'requests';
  if (Math.max(load.inProgress, load.admittedInTurn) < minRequests) return undefined;
  const longest = limits.turnMs * share.turns * (load.isLasting ? 1 : singleTurn);
  return load.turnMs >= longest ? 'delay' : undefined;
}

interface OverloadSettings extends ImportanceSettings {
  limits: OverloadLimits;
  passwords: PasswordQueueSettings;
  answers: OverloadAnswers;
  metrics: { requestRefused(importance: Importance, reason: RefusalReason): void };
  log: Pick<Logger, 'warn'>;
  now?: () => number;
}

/** One line a minute: a line for each refusal would be the next overload. */
function reporter(log: OverloadSettings['log'], now: () => number) {
  let refused = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  return (reason: RefusalReason, load: Record<string, number>) => {
    refused += 1;
    const nowMs = now();
    if (nowMs < nextMs) return;
    log.warn(
      { act: 'overload', refused, reason, ...load },
      'more requests than this process can serve: some were refused',
    );
    refused = 0;
    nextMs = nowMs + minuteMs;
  };
}

export function createAdmissionGate(settings: OverloadSettings): AdmissionGate {
  const { limits, answers, metrics, log, now = () => performance.now() } = settings;
  const queue = watchPasswordQueue(settings.passwords, settings.getAddress);
  const toImportance = importanceBy(settings, now);
  const report = reporter(log, now);
  return {
    calm: {
      inProgress: limits.requests * shares.visit.requests,
      turnMs: limits.turnMs,
      passwords: Math.min(minWaiting, settings.passwords.limits.waiting * shares.visit.requests),
    },
    passwordQueue: settings.passwords.state,
    refuses(req, res, load) {
      // Most are not refused even as visits; their cookies are not read.
      if (findRefusal('visit', load, limits) === undefined) return false;
      const importance = toImportance(req);
      const reason = findRefusal(importance, load, limits);
      if (reason === undefined) return false;
      metrics.requestRefused(importance, reason);
      report(reason, { inProgress: load.inProgress, turnMs: Math.round(load.turnMs) });
      answers.refuseRequest(req, res);
      return true;
    },
    refusesPassword(req, res, load) {
      const wait = queue.measure(load);
      if (!queue.isFull('visit', wait)) return false;
      const importance = needsSession(req) ? 'begun' : toImportance(req);
      if (!queue.isFull(importance, wait)) return false;
      metrics.requestRefused(importance, 'passwords');
      report('passwords', { ...wait });
      answers.refusePassword(req, res);
      return true;
    },
  };
}
