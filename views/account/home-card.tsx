import { Fragment, type ReactElement, type ReactNode } from 'react';
import type { PageContext } from '../page-context.ts';

/** A card of another subject, drawn for the page. */
export type HomeCard = (ctx: PageContext) => ReactElement;

/** Keyed by position: they have no other identity. */
export const cardsInOrder = (ctx: PageContext, cards: readonly HomeCard[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: they never change their places
  cards.map((card, place) => <Fragment key={place}>{card(ctx)}</Fragment>);
