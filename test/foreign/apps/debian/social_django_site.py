"""python3-social-django with its own backend for OpenID Connect: address, id and secret alone."""
import os

from django_site import APP_URL, ISSUER, configure, serve

configure(
    apps=["social_django"],
    AUTHENTICATION_BACKENDS=["social_core.backends.open_id_connect.OpenIdConnectAuth"],
    SOCIAL_AUTH_OIDC_OIDC_ENDPOINT=ISSUER,
    SOCIAL_AUTH_OIDC_KEY=os.environ["CLIENT_ID"],
    SOCIAL_AUTH_OIDC_SECRET=os.environ["CLIENT_SECRET"],
    LOGIN_REDIRECT_URL="/me",
)

from django.contrib.auth import logout  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.shortcuts import redirect  # noqa: E402
from django.urls import include, path  # noqa: E402
from social_django.utils import load_strategy  # noqa: E402


def me(request):
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    account = request.user.social_auth.get()
    return JsonResponse(
        {"claims": {"sub": account.uid}, "userinfo": {"sub": account.uid, "email": request.user.email}}
    )


def refresh(request):
    account = request.user.social_auth.get()
    strategy = load_strategy(request)
    account.refresh_token(strategy)
    backend = account.get_backend_instance(strategy)
    return JsonResponse({"userinfo": backend.user_data(account.extra_data["access_token"])})


def sign_out(request):
    account = request.user.social_auth.get()
    backend = account.get_backend_instance(load_strategy(request))
    endpoint = backend.oidc_config()["end_session_endpoint"]
    hint = account.extra_data["id_token"]
    logout(request)
    return redirect(f"{endpoint}?id_token_hint={hint}&post_logout_redirect_uri={APP_URL}/")


urlpatterns = [
    path("", lambda _request: HttpResponse("home")),
    path("", include("social_django.urls", namespace="social")),
    path("me", me),
    path("refresh", refresh),
    path("sign-out", sign_out),
]
serve()
