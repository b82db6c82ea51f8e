import type { Request, Response } from 'express';

/** A request and its answer, for functions that read and set cookies. */
export interface HttpExchange {
  readonly req: Request;
  readonly res: Response;
}
