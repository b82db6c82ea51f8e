import { pageMember } from './account/index.ts';
import { greet } from './http/index.ts';
import type { Sessions } from './session/index.ts';

/** Whoever finds out who is there tells the pages: header and language follow. */
export function greetMembers(sessions: Sessions, mediaUrl: string | undefined): Sessions {
  return {
    ...sessions,
    async member(req) {
      const found = await sessions.member(req);
      if (found) greet(req, { member: pageMember(found.user, mediaUrl), locale: found.user.locale });
      return found;
    },
  };
}
