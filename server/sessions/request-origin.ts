import type { Request } from 'express';
import { resolveLanguage } from '../http/index.ts';
import type { Origin } from '../messages/index.ts';

export const getRequestOrigin = (req: Request): Origin => ({
  ip: req.ip ?? '',
  userAgent: req.get('user-agent'),
  lang: resolveLanguage(req.get('accept-language')),
});
