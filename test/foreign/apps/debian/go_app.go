// Both apps in Go: sessions by a cookie, and answers as JSON.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
)

type session struct {
	state, nonce, verifier string
	// What the library keeps of the member.
	tokens, user interface{}
	// What the test reads.
	member map[string]interface{}
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
	return hex.EncodeToString(bytes)
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

// handle runs a step that fails with status 500, or ends with the member or with the address to go to.
func handle(path string, act func(s *session, r *http.Request) (string, error)) {
	http.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		address, err := act(find(w, r), r)
		if err != nil {
			log.Println(err)
			answer(w, 500, err.Error())
			return
		}
		http.Redirect(w, r, address, http.StatusFound)
	})
}

func signOutAddress(hint string) string {
	query := url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {os.Getenv("APP_URL") + "/"}}
	return os.Getenv("ISSUER") + "/oauth2/logout?" + query.Encode()
}

func serve() {
	me := func(w http.ResponseWriter, r *http.Request) {
		if member := find(w, r).member; member != nil {
			answer(w, 200, member)
			return
		}
		answer(w, 401, nil)
	}
	http.HandleFunc("/me", me)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { answer(w, 200, "home") })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
