import type { Router } from 'express';
import type { Operation } from '../http/index.ts';
import type { PasswordSettings } from './deps.ts';
import { passwordOperations } from './operations.ts';
import { createResetFlows } from './reset-flows.ts';
import { passwordRoutes } from './routes.ts';

export interface PasswordRoom {
  pageRoutes(router: Router): void;
  operations: Operation[];
}

/** The pages and calls by which passwords are replaced: one set of rules behind both. */
export function openPassword({ cookies, ...settings }: PasswordSettings): PasswordRoom {
  const deps = { ...settings, flows: createResetFlows(settings.kv, cookies) };
  return { pageRoutes: (router) => passwordRoutes(router, deps), operations: passwordOperations(deps) };
}
