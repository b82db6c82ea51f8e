import { visitorDataLevel } from '../../store/index.ts';
import { bytesText, type Finding, findingsFor } from './finding.ts';

/** The part of its size that visitors' data use in the key-value store. */
export function judgeVisitorData(bytes: number, maxBytes: number): Finding {
  const { ok, note, warning, fault } = findingsFor('key-value');
  const seen = `${bytesText(bytes)} of at most ${bytesText(maxBytes)} are kept for visitors who are not signed in.`;
  const todo =
    'See in the log which addresses send many requests, and stop them at the proxy; or raise VISITOR_DATA_MAX_MB.';
  switch (visitorDataLevel(bytes, maxBytes)) {
    case 'normal':
      return ok('key-value.visitors', seen);
    case 'high':
      return note('key-value.visitors', {
        seen,
        why: 'From half on, a visitor has 10 minutes rather than an hour to sign in; after that the request begins again by itself.',
        todo,
      });
    case 'full':
      return warning('key-value.visitors', {
        seen,
        why: 'Visitors are answered 503, unless a member has signed in with their browser before. Members who are signed in notice nothing.',
        todo,
      });
    case 'over':
      return fault('key-value.visitors', {
        seen,
        why: 'All visitors are answered 503: no one who is not signed in gets to a client app. Members who are signed in notice nothing.',
        todo,
      });
  }
}
