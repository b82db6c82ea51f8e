// go-oidc with x/oauth2, by their examples: discovery, id, secret, and the parameters of PKCE.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

type session struct {
	state, nonce, verifier string
	token                  *oauth2.Token
	member                 map[string]interface{}
}

var (
	mutex    sync.Mutex
	sessions = map[string]*session{}
)

func random() string {
	bytes := make([]byte, 32)
	if _, err := rand.Read(bytes); err != nil {
		log.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func find(w http.ResponseWriter, r *http.Request) *session {
	mutex.Lock()
	defer mutex.Unlock()
	if cookie, err := r.Cookie("session"); err == nil && sessions[cookie.Value] != nil {
		return sessions[cookie.Value]
	}
	id := random()
	sessions[id] = &session{}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: id, Path: "/", HttpOnly: true})
	return sessions[id]
}

func answer(w http.ResponseWriter, status int, value interface{}) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func main() {
	ctx, home := context.Background(), os.Getenv("APP_URL")
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  home + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	userinfo := func(token *oauth2.Token) (map[string]interface{}, error) {
		info, err := provider.UserInfo(ctx, config.TokenSource(ctx, token))
		if err != nil {
			return nil, err
		}
		claims := map[string]interface{}{}
		return claims, info.Claims(&claims)
	}
	http.HandleFunc("/sign-in", func(w http.ResponseWriter, r *http.Request) {
		s := find(w, r)
		s.state, s.nonce, s.verifier = random(), random(), random()
		hash := sha256.Sum256([]byte(s.verifier))
		http.Redirect(w, r, config.AuthCodeURL(s.state, oidc.Nonce(s.nonce),
			oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(hash[:])),
			oauth2.SetAuthURLParam("code_challenge_method", "S256")), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		s := find(w, r)
		if s.state == "" || r.URL.Query().Get("state") != s.state {
			answer(w, 400, "another state")
			return
		}
		token, err := config.Exchange(ctx, r.URL.Query().Get("code"), oauth2.SetAuthURLParam("code_verifier", s.verifier))
		if err != nil {
			answer(w, 500, err.Error())
			return
		}
		raw, _ := token.Extra("id_token").(string)
		idToken, err := verifier.Verify(ctx, raw)
		if err != nil || idToken.Nonce != s.nonce {
			log.Println(err)
			answer(w, 500, "no valid id token")
			return
		}
		info, err := userinfo(token)
		if err != nil {
			answer(w, 500, err.Error())
			return
		}
		s.token, s.member = token, map[string]interface{}{
			"claims": map[string]string{"sub": idToken.Subject}, "userinfo": info,
		}
		http.Redirect(w, r, "/me", http.StatusFound)
	})
	http.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		if s := find(w, r); s.member != nil {
			answer(w, 200, s.member)
			return
		}
		answer(w, 401, nil)
	})
	http.HandleFunc("/refresh", func(w http.ResponseWriter, r *http.Request) {
		token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: find(w, r).token.RefreshToken}).Token()
		if err != nil {
			answer(w, 500, err.Error())
			return
		}
		info, err := userinfo(token)
		if err != nil {
			answer(w, 500, err.Error())
			return
		}
		answer(w, 200, map[string]interface{}{"userinfo": info})
	})
	http.HandleFunc("/sign-out", func(w http.ResponseWriter, r *http.Request) {
		s := find(w, r)
		hint, _ := s.token.Extra("id_token").(string)
		*s = session{}
		endpoints := struct {
			EndSession string `json:"end_session_endpoint"`
		}{}
		if err := provider.Claims(&endpoints); err != nil {
			log.Fatal(err)
		}
		query := url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {home + "/"}}
		http.Redirect(w, r, endpoints.EndSession+"?"+query.Encode(), http.StatusFound)
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { answer(w, 200, "home") })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
