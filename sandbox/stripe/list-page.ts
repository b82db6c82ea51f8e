import { invalid, missing } from './engine/types.ts';

type Json = Record<string, unknown>;

const defaultLimit = 10;
const maxLimit = 100;

const listObjects = new Set<unknown>(['list', 'search_result']);

/** A list, or the answer of a search; of a search only the first page is known here. */
export const isList = (value: unknown): value is { object: string; data: { id?: string }[]; has_more: boolean } =>
  typeof value === 'object' && value !== null && listObjects.has((value as Json).object);

function readLimit({ limit }: Json): number {
  if (limit === undefined) return defaultLimit;
  const number = Number(limit);
  if (!Number.isInteger(number)) {
    throw invalid(`Invalid integer: ${limit}`, { param: 'limit', code: 'parameter_invalid_integer' });
  }
  if (number < 1 || number > maxLimit) {
    throw invalid(`Limit must be between 1 and ${maxLimit}`, { param: 'limit', code: 'parameter_invalid_integer' });
  }
  return number;
}

/**
 * One page of a whole list (docs.stripe.com/api/pagination): after `starting_after`, or before `ending_before`.
 * @throws StandInError for a limit out of range or a cursor that is not in the list
 */
export function listPage<T extends { data: { id?: string }[] }>(list: T, params: Json): T & { has_more: boolean } {
  const limit = readLimit(params);
  const at = (name: string) => {
    const id = params[name];
    if (id === undefined) return undefined;
    const index = list.data.findIndex((each) => each.id === id);
    if (index < 0) throw missing('object', String(id), name);
    return index;
  };
  const [after, before] = [at('starting_after'), at('ending_before')];
  if (after !== undefined && before !== undefined) {
    throw invalid('You cannot parameterize both starting_after and ending_before.', { param: 'ending_before' });
  }
  if (before !== undefined) {
    const start = Math.max(0, before - limit);
    return { ...list, data: list.data.slice(start, before), has_more: start > 0 };
  }
  const start = after === undefined ? 0 : after + 1;
  return { ...list, data: list.data.slice(start, start + limit), has_more: start + limit < list.data.length };
}
