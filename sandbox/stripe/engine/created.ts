import type { Reader } from './params.ts';

/** The filter `created` of a list: a time, or a range of times. */
export function readCreated(reader: Reader): (one: { created: number }) => boolean {
  if (!reader.isRecord('created')) {
    const at = reader.int('created');
    return ({ created }) => at === undefined || created === at;
  }
  const range = reader.object('created', ['gt', 'gte', 'lt', 'lte']);
  const [gt, gte, lt, lte] = [range?.int('gt'), range?.int('gte'), range?.int('lt'), range?.int('lte')];
  return ({ created }) =>
    created > (gt ?? -Infinity) &&
    created >= (gte ?? -Infinity) &&
    created < (lt ?? Infinity) &&
    created <= (lte ?? Infinity);
}
