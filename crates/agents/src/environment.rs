//! Which variables of the user's environment a child may have without being asked for: one list for everybody.
//!
//! A list of what is allowed, because a list of words that sound like secrets is never whole: `DATABASE_URL` and
//! `SSHPASS` sound like none. What is not here is passed only where somebody names it (`env`).
//!
//! To add a variable: its name, if no value of it is a secret.

/// Where things are, who the user is, and how programs talk.
const USUAL: [&str; 36] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "EMAIL",
    "HOSTNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SOURCE_DATE_EPOCH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "CHROME_PATH",
];

/// Homes and settings of toolchains.
const TOOLCHAINS: [&str; 138] = [
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TERM_COLOR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_MIN_STACK",
    "RUST_TEST_THREADS",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "GOPROXY",
    "GOSUMDB",
    "GO111MODULE",
    "CGO_ENABLED",
    "JAVA_HOME",
    "JDK_HOME",
    "JRE_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "SBT_HOME",
    "SCALA_HOME",
    "KOTLIN_HOME",
    "SDKMAN_DIR",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ANDROID_NDK_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "NODE_PATH",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
    "VOLTA_HOME",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "PNPM_HOME",
    "YARN_CACHE_FOLDER",
    "COREPACK_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "DENO_INSTALL",
    "CHROME_BIN",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PUPPETEER_EXECUTABLE_PATH",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "CONDA_EXE",
    "CONDA_PYTHON_EXE",
    "MAMBA_ROOT_PREFIX",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PIPX_HOME",
    "PIPX_BIN_DIR",
    "PIP_CACHE_DIR",
    "POETRY_HOME",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "RBENV_ROOT",
    "RBENV_VERSION",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "PERL5LIB",
    "PERL_LOCAL_LIB_ROOT",
    "COMPOSER_HOME",
    "DOTNET_ROOT",
    "DOTNET_CLI_HOME",
    "NUGET_PACKAGES",
    "STACK_ROOT",
    "CABAL_DIR",
    "GHCUP_INSTALL_BASE_PREFIX",
    "OPAMROOT",
    "OPAMSWITCH",
    "OPAM_SWITCH_PREFIX",
    "OCAMLPATH",
    "CAML_LD_LIBRARY_PATH",
    "JULIA_DEPOT_PATH",
    "R_HOME",
    "R_LIBS",
    "R_LIBS_USER",
    "ERL_LIBS",
    "MIX_HOME",
    "HEX_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "HOMEBREW_PREFIX",
    "HOMEBREW_CELLAR",
    "HOMEBREW_REPOSITORY",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_CFLAGS_COMPILE",
    "NIX_LDFLAGS",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CPATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "MANPATH",
    "TEXMFHOME",
];

/// Whole families: locales, and the user's own folders.
const FAMILIES: [&str; 2] = ["LC_", "XDG_"];

/// Whether a child may have this variable though nobody named it. An address with a password in it never is: a
/// proxy's, for one.
pub fn is_usual(name: &str, value: &str) -> bool {
    let named = USUAL.contains(&name) || TOOLCHAINS.contains(&name);
    (named || FAMILIES.iter().any(|family| name.starts_with(family))) && !has_a_password(value)
}

/// `scheme://somebody:secret@host`, also among others, and `somebody:secret@host`, which is a proxy's, too.
fn has_a_password(value: &str) -> bool {
    let words = value.split([',', ' ', ';', '|']);
    words.into_iter().any(|word| {
        let (address, rest) = word.split_once("://").map_or((false, word), |(_, rest)| (true, rest));
        let host = rest.split('/').next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(who, _)| !who.is_empty() && (address || who.contains(':')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolchains_come_through_and_passwords_of_proxies_do_not() {
        for (name, value, usual) in [
            ("PATH", "/home/a@b/bin:/usr/bin", true),
            ("EMAIL", "me@example.org", true),
            ("LC_ALL", "C", true),
            ("XDG_CACHE_HOME", "/c", true),
            ("CARGO_HOME", "/cargo", true),
            ("HTTPS_PROXY", "http://proxy:3128", true),
            ("no_proxy", "localhost,.example.org", true),
            ("HTTPS_PROXY", "http://me:hunter2@proxy:3128", false),
            ("http_proxy", "me:hunter2@proxy:3128", false),
            ("HTTP_PROXY", "http://token@proxy", false),
            ("GOPROXY", "https://proxy.golang.org,direct", true),
            ("GOPROXY", "https://proxy.golang.org,https://u:p@internal/x", false),
            ("DATABASE_URL", "postgres://localhost/x", false),
            ("LCD", "x", false),
        ] {
            assert_eq!(is_usual(name, value), usual, "{name}={value}");
        }
    }

    #[test]
    fn nothing_on_the_list_sounds_like_a_secret() {
        for name in USUAL.iter().chain(&TOOLCHAINS) {
            for word in ["TOKEN", "SECRET", "PASS", "KEY", "AUTH", "CRED", "COOKIE", "SOCK", "DSN"] {
                assert!(!name.contains(word), "{name}");
            }
        }
    }
}
