/** The package has no types. */
declare module 'passport-amazon' {
  import OAuth2Strategy = require('passport-oauth2');
  export class Strategy extends OAuth2Strategy {}
}
