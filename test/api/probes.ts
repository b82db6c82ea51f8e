import type { Server } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  apiCallLimits,
  apiRoutes,
  asHttpError,
  operationsBy,
  requirePrincipal,
} from '../../server/http/index.ts';
import { listenOnFreePort, type TestFoyer } from '../support/foyer.ts';
import { limitsWith } from '../support/limits.ts';

const answer = z.object({ principal: z.string(), note: z.string() });
const body = z.object({ note: z.string().max(20) });

const principal = (req: Parameters<typeof requirePrincipal>[0]) => {
  const who = requirePrincipal(req);
  return who.kind === 'member' ? who.userId : who.clientId;
};

/** Rules of every kind, also those that no call of Foyer has. */
const operation = operationsBy({
  probeMember: { member: 'account' },
  probeEither: { member: 'account', client: 'users:write' },
  probeClient: { client: 'messages:send' },
  probeClientRead: { client: 'plans:read' },
  probeRare: { member: 'account' },
  probeLeaky: 'public',
  probeSecurity: { member: 'account:security' },
  probeRecent: { member: 'account', client: 'users:write', recent: true },
});

/** Calls of every kind of access and method, also those that no module has yet: the guard must treat them all alike. */
export const probes: ApiOperation[] = [
  operation({
    method: 'post',
    path: '/probe/member',
    id: 'probeMember',
    summary: 'Changes something of the member',
    body,
    answer,
    handle: async ({ req, body: { note } }) => ({ principal: principal(req), note }),
  }),
  operation({
    method: 'put',
    path: '/probe/either/{id}',
    id: 'probeEither',
    summary: 'Open to members and to client apps',
    params: z.object({ id: z.string() }),
    body,
    answer,
    handle: async ({ req, params: { id } }) => ({ principal: principal(req), note: id }),
  }),
  operation({
    method: 'post',
    path: '/probe/client',
    id: 'probeClient',
    summary: 'Open to client apps alone',
    body,
    answer,
    handle: async ({ req, body: { note } }) => ({ principal: principal(req), note }),
  }),
  operation({
    method: 'get',
    path: '/probe/client',
    id: 'probeClientRead',
    summary: 'Open to client apps alone',
    answer,
    handle: async ({ req }) => ({ principal: principal(req), note: '' }),
  }),
  operation({
    method: 'post',
    path: '/probe/security',
    id: 'probeSecurity',
    summary: 'Changes a credential at any time',
    body,
    answer,
    handle: async ({ req, body: { note } }) => ({ principal: principal(req), note }),
  }),
  operation({
    method: 'post',
    path: '/probe/recent',
    id: 'probeRecent',
    summary: 'Needs a recent authentication of members, and none of client apps',
    body,
    answer,
    handle: async ({ req, body: { note } }) => ({ principal: principal(req), note }),
  }),
  operation({
    method: 'get',
    path: '/probe/rare',
    id: 'probeRare',
    summary: 'May be called three times a minute',
    answer,
    handle: async ({ req }) => ({ principal: principal(req), note: '' }),
  }),
  operation({
    method: 'get',
    path: '/probe/leaky',
    id: 'probeLeaky',
    summary: 'Answers more than it describes',
    answer,
    handle: async () => ({ principal: 'no principal', note: '', passwordHash: 'secret' }),
  }),
];

/** Serves the probes behind Foyer's own guard and stores; errors are answered by their kind alone. */
export async function serveProbes({ app, deps }: TestFoyer): Promise<{ url: string; server: Server }> {
  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    const { status, kind, options } = asHttpError(error);
    for (const [name, value] of Object.entries(options.headers ?? {})) res.setHeader(name, value);
    res.status(status).json({ kind, errors: options.invalidParams });
  };
  const served = express()
    .set('query parser', 'simple')
    .use(
      apiRoutes(probes, {
        guard: app.guard,
        limits: apiCallLimits(deps.kv, limitsWith({}), new Map([['probeRare', 3]])),
        describe: () => ({}),
      }),
      onError,
    );
  const { server, port } = await listenOnFreePort(served);
  return { url: `http://localhost:${port}`, server };
}
