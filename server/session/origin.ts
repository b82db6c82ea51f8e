import type { Request } from 'express';
import { languageOf } from '../http/index.ts';
import type { Origin } from '../messages/index.ts';

export const originOf = (req: Request): Origin => ({
  ip: req.ip ?? '',
  userAgent: req.get('user-agent'),
  lang: languageOf(req.get('accept-language')),
});
