import type { Row } from '../../store/index.ts';
import type { SavedCard } from '../subscription/membership.ts';

/** The record of one paid invoice (the specification's Order). Cents, milliseconds since the epoch. */
export type Order = Omit<Row<'orders'>, 'card' | 'createdAt'> & {
  card: Pick<SavedCard, 'brand' | 'lastFour'> | null;
};
