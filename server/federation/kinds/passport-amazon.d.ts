/** It brings no types. */
declare module 'passport-amazon' {
  export class Strategy {
    constructor(options: object, verify: unknown);
  }
}
