import express, { type RequestHandler, Router } from 'express';
import { behindRules, type PageRule, pageRoutes } from '../../server/http/index.ts';
import { pageGuard } from '../../server/page-guard.ts';
import { requireUser, type UserGuardDeps } from '../../server/sign-in/index.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';

describe('registration of a page route', () => {
  const handler: RequestHandler = (_req, res) => void res.send('open');
  const deps = {} as Parameters<typeof pageGuard>[0];
  const register = (table: Record<string, PageRule>, ...handlers: RequestHandler[]) =>
    behindRules(Router(), table, pageGuard(deps))
      .route('/here')
      .get(...handlers);

  it('A page route without an access rule keeps the server from starting', () => {
    expect(() => register({}, handler)).toThrow('the route GET /here has no access rule');
    expect(() => register({ 'POST /here': 'visitor' }, handler)).toThrow('no access rule');
    expect(() => behindRules(Router(), {}, pageGuard(deps)).get('/here', handler)).toThrow('no access rule');
  });

  it('A page route whose guard does not fit its access rule keeps the server from starting', () => {
    const registerForMembers = (rule: PageRule) =>
      pageRoutes(behindRules(Router(), { 'GET /here': rule }, pageGuard(deps)), {} as UserGuardDeps)('/here', {
        get: requireUser((r) => void r.res.send('open')),
      });
    for (const rule of ['visitor', 'flow', 'session'] as const) {
      expect(() => registerForMembers(rule)).toThrow(`has the rule ${rule} and the guard member`);
    }
    expect(() => registerForMembers('member')).not.toThrow();
  });

  it('A handler without a guard gets the guard of its access rule', async () => {
    const visitor = {
      publicUrl: 'http://localhost',
      sessions: { getCurrentUser: async () => undefined },
      nextRedirect: () => {},
    };
    for (const rule of ['session', 'member', 'recent', 'recent-with-second-factor'] as const) {
      const router = behindRules(Router(), { 'GET /here': rule }, pageGuard(visitor as never));
      router.route('/here').get(handler);
      const { server, port } = await listenOnFreePort(express().use(router));
      const answer = await sendRequest(`http://localhost:${port}/here`, { redirect: 'manual' });
      server.close();
      expect([rule, answer.status, answer.headers.get('location')]).toEqual([rule, 303, '/?redirect=%2Fhere']);
    }
  });
});
