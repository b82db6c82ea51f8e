import type { HomeCard } from '../../views/account/home-card.tsx';
import type { UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';

/** A subject's card on the home: reads its data and returns its view; undefined if there is nothing to show. */
export type HomeCardSource = (r: UserRequest, deps: AccountDeps) => Promise<HomeCard | undefined>;
