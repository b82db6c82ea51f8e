import type { Request, Response } from 'express';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { RequestContext, type RequestServices } from '../http/index.ts';

/** The request of a page that Foyer renders in place of the library. */
export const toRequestContext = (koa: KoaContextWithOIDC, services: RequestServices): RequestContext =>
  new RequestContext(koa.req as Request, koa.res as Response, services);
