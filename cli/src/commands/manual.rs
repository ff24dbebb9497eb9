//! `lacuna completions` and `lacuna man`: what a shell and `man` want to know about the commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Print completions for a shell
///
/// They need a build with the feature `terminal`: `cargo build --release -p lacuna-cli --features terminal`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lacuna completions bash > ~/.local/share/bash-completion/completions/lacuna"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write those of all commands
///
/// They need a build with the feature `terminal`: `cargo build --release -p lacuna-cli --features terminal`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lacuna man | man -l -\n  lacuna man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write lacuna.1, lacuna-build.1 and so on into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Shells with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

#[cfg(not(feature = "terminal"))]
pub(super) fn completions(args: &CompletionsArgs) -> crate::errors::Result<()> {
    let _ = args.shell;
    Err(crate::features::TERMINAL.is_missing())
}

#[cfg(not(feature = "terminal"))]
pub(super) fn man(args: &ManArgs) -> crate::errors::Result<()> {
    let _ = &args.out;
    Err(crate::features::TERMINAL.is_missing())
}

#[cfg(feature = "terminal")]
pub(super) use with_feature::{completions, man};

#[cfg(feature = "terminal")]
mod with_feature {
    use std::fs;
    use std::path::Path;

    use clap::CommandFactory as _;
    use lacuna_base::Error;

    use super::{CompletionsArgs, ManArgs, Shell};
    use crate::commands::Cli;
    use crate::errors::{Failure, Result};
    use crate::output::Output;

    pub(in crate::commands) fn completions(args: &CompletionsArgs) -> Result<()> {
        let shell = match args.shell {
            Shell::Bash => clap_complete::Shell::Bash,
            Shell::Elvish => clap_complete::Shell::Elvish,
            Shell::Fish => clap_complete::Shell::Fish,
            Shell::Powershell => clap_complete::Shell::PowerShell,
            Shell::Zsh => clap_complete::Shell::Zsh,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "lacuna", &mut script);
        print(&script)
    }

    pub(in crate::commands) fn man(args: &ManArgs) -> Result<()> {
        match &args.out {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(Failure::from_output)?;
                print(&page)
            }
            Some(folder) => write_pages(folder),
        }
    }

    fn write_pages(folder: &Path) -> Result<()> {
        let written =
            fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
        written.map_err(|error| {
            let message = format!("the pages cannot be written into {}: {error}", folder.display());
            Error::invalid_input(message).with_source(error).into()
        })
    }

    fn print(bytes: &[u8]) -> Result<()> {
        let mut out = Output::new();
        out.bytes(bytes)?;
        out.finish()
    }
}
