// goth with its provider for OpenID Connect, as its handlers call it: discovery, id, secret and scopes.
package main

import (
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/markbates/goth"
	"github.com/markbates/goth/providers/openidConnect"
)

func main() {
	provider, err := openidConnect.New(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"),
		os.Getenv("APP_URL")+"/callback", os.Getenv("ISSUER")+"/.well-known/openid-configuration", "profile", "email")
	if err != nil {
		log.Fatal(err)
	}
	fetch := func(s *session, tokens *openidConnect.Session) (string, error) {
		user, err := provider.FetchUser(tokens)
		if err != nil {
			return "", err
		}
		s.user = user
		s.member = map[string]interface{}{"userinfo": map[string]string{"sub": user.UserID, "email": user.Email}}
		return "/me", nil
	}
	handle("/sign-in", func(s *session, r *http.Request) (string, error) {
		s.state = random()
		begun, err := provider.BeginAuth(s.state)
		if err != nil {
			return "", err
		}
		s.tokens = begun
		return begun.GetAuthURL()
	})
	handle("/callback", func(s *session, r *http.Request) (string, error) {
		if s.state == "" || r.URL.Query().Get("state") != s.state {
			return "", errors.New("another state")
		}
		tokens := s.tokens.(*openidConnect.Session)
		if _, err := tokens.Authorize(provider, r.URL.Query()); err != nil {
			return "", err
		}
		return fetch(s, tokens)
	})
	handle("/refresh", func(s *session, r *http.Request) (string, error) {
		token, err := provider.RefreshToken(s.user.(goth.User).RefreshToken)
		if err != nil {
			return "", err
		}
		tokens := s.tokens.(*openidConnect.Session)
		if token.AccessToken == tokens.AccessToken {
			return "", errors.New("no new access token")
		}
		tokens.AccessToken = token.AccessToken
		return fetch(s, tokens)
	})
	handle("/sign-out", func(s *session, r *http.Request) (string, error) {
		hint := s.tokens.(*openidConnect.Session).IDToken
		*s = session{}
		return signOutAddress(hint), nil
	})
	serve()
}
