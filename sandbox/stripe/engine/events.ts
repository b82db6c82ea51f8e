import { readCreated } from './created.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid } from './types.ts';

const maxTypes = 20;

/** A type as a caller names it; a star stands for the rest. */
const matches = (pattern: string) => (type: string) =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** The events of thirty days, newest first. */
export function listEvents(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'type', 'types', 'created']);
  if (reader.has('type') && reader.has('types'))
    throw invalid('You may only specify one of these parameters: type, types.', { param: 'types' });
  const types = reader.has('type') ? [reader.need('type')] : reader.texts('types');
  if (types && types.length > maxTypes)
    throw invalid(`You may only specify up to ${maxTypes} types.`, { param: 'types' });
  const patterns = types?.map(matches);
  const isCreated = readCreated(reader);
  return list(
    state
      .all('event')
      .filter((event) => (patterns?.some((isWanted) => isWanted(event.type)) ?? true) && isCreated(event)),
    '/v1/events',
  );
}
