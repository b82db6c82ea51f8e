/** Another user already has this address or number. */
export class AlreadyInUseError extends Error {
  override name = 'Taken';
  readonly what: 'email' | 'phone';
  constructor(what: 'email' | 'phone') {
    super(`another member has this ${what} already`);
    this.what = what;
  }
}
