// go-oidc with x/oauth2, by their examples: discovery, id, secret, and the parameters of PKCE.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log"
	"net/http"
	"os"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("APP_URL") + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	keep := func(s *session, token *oauth2.Token, subject string) error {
		info, err := provider.UserInfo(ctx, config.TokenSource(ctx, token))
		if err != nil {
			return err
		}
		userinfo := map[string]interface{}{}
		s.tokens = token
		s.member = map[string]interface{}{"claims": map[string]string{"sub": subject}, "userinfo": userinfo}
		return info.Claims(&userinfo)
	}
	handle("/sign-in", func(s *session, r *http.Request) (string, error) {
		s.state, s.nonce, s.verifier = random(), random(), random()
		hash := sha256.Sum256([]byte(s.verifier))
		return config.AuthCodeURL(s.state, oidc.Nonce(s.nonce),
			oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(hash[:])),
			oauth2.SetAuthURLParam("code_challenge_method", "S256")), nil
	})
	handle("/callback", func(s *session, r *http.Request) (string, error) {
		query := r.URL.Query()
		if s.state == "" || query.Get("state") != s.state {
			return "", errors.New("another state")
		}
		token, err := config.Exchange(ctx, query.Get("code"), oauth2.SetAuthURLParam("code_verifier", s.verifier))
		if err != nil {
			return "", err
		}
		raw, _ := token.Extra("id_token").(string)
		idToken, err := verifier.Verify(ctx, raw)
		if err != nil {
			return "", err
		}
		if idToken.Nonce != s.nonce {
			return "", errors.New("another nonce")
		}
		return "/me", keep(s, token, idToken.Subject)
	})
	handle("/refresh", func(s *session, r *http.Request) (string, error) {
		before := s.tokens.(*oauth2.Token)
		token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: before.RefreshToken}).Token()
		if err != nil {
			return "", err
		}
		if token.AccessToken == before.AccessToken {
			return "", errors.New("no new access token")
		}
		return "/me", keep(s, token, "")
	})
	handle("/sign-out", func(s *session, r *http.Request) (string, error) {
		hint, _ := s.tokens.(*oauth2.Token).Extra("id_token").(string)
		*s = session{}
		return signOutAddress(hint), nil
	})
	serve()
}
