import { DeletionRequestedPage } from '../../../views/account/deletion-requested-page.tsx';
import type { RequestContext } from '../../http/index.ts';
import type { PageRoute } from '../settings-page.ts';
import { waitDays } from './request-deletion.ts';

/** The page after a request for deletion. It contains no personal data, so everyone may read it. */
export const deletionRequestedPath = '/account-deletion';

const show = (r: RequestContext) => {
  const answer = { title: 'leaving.requested.title', address: deletionRequestedPath } as const;
  r.render(DeletionRequestedPage, { days: waitDays }, answer);
};

export const deletionRequestedPage: PageRoute = { path: deletionRequestedPath, get: show };
