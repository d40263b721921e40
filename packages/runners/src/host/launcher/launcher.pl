# The launcher for systems with Perl: a tenth of the memory of a Node process and half the work for each command.
# launcher.ts is its equivalent in TypeScript; protocol.ts describes the messages. The only argument is the folder of the
# pipes.
use strict;
use warnings;
use Fcntl qw(O_RDONLY O_WRONLY);
use POSIX ();

use constant READ_BYTES => 65536;
# A command that ends just before `select` is noticed after this time.
use constant POLL_S => 0.05;
use constant MOST_SWEEPS  => 1000;
use constant SWEEP_S      => 0.01;
use constant KERNEL_THREAD => 0x00200000;

my ($pipe_folder) = @ARGV;
my @ignored_signals = qw(TERM INT HUP QUIT PIPE);
my $input = '';
my %id_of;        # pid => id of each command that runs
my %status_of;    # pid => pipe that reports whether its program could be started
my %markers;      # of the attempts that have not ended

# Inherited descriptors must not be passed on to commands.
if (opendir my $open, '/proc/self/fd') {
    POSIX::close($_) for grep { /\A\d+\z/ && $_ > 2 } readdir $open;
}

# The program decides when its commands end: signals to the whole process group or service are ignored here.
$SIG{$_} = 'IGNORE' for @ignored_signals;
$SIG{CHLD} = sub { };
reply('ready');
while (1) {
    my $watched = '';
    vec($watched, $_, 1) = 1 for 0, map { fileno $_ } values %status_of;
    select($watched, undef, undef, %id_of ? POLL_S : undef) > 0 or $watched = '';
    read_requests() if vec($watched, 0, 1);
    for my $pid (keys %status_of) {
        report_start($pid) if vec($watched, fileno $status_of{$pid}, 1);
    }
    reap();
}

sub reply { syswrite STDOUT, join(' ', @_) . "\n" }

sub read_requests {
    sysread(STDIN, $input, READ_BYTES, length $input) or leave();
    while ($input =~ /\A(\d+)\n/ && length($input) >= $1 + $+[0]) {
        my ($kind, @fields) = split /\0/, substr($input, $+[0], $1), -1;
        substr($input, 0, $+[0] + $1) = '';
        if ($kind eq 'launch') { launch(@fields) }
        elsif ($kind eq 'kill-user') { kill_user(@fields) }
        else { delete $markers{ $fields[0] } }
    }
}

sub launch {
    my ($id, $marker, @how) = @_;
    $markers{$marker} = 1;
    pipe(my $status, my $reporter) or return reply('failed', $id, $! + 0);
    my $pid = fork;
    return reply('failed', $id, $! + 0) unless defined $pid;
    if ($pid == 0) {
        become(@how);
        syswrite $reporter, $! + 0;
        POSIX::_exit(127);
    }
    ($id_of{$pid}, $status_of{$pid}) = ($id, $status);
}

# Sends one signal to all processes of a user; see killAsUser in client.ts.
sub kill_user {
    my ($id, $uid, $gid) = @_;
    my $pid = fork;
    return reply('failed', $id, $! + 0) unless defined $pid;
    if ($pid == 0) {
        change_user($uid, $gid) or POSIX::_exit(1);
        kill 'KILL', -1;
        POSIX::_exit(0);
    }
    $id_of{$pid} = $id;
}

sub change_user {
    my ($uid, $gid) = @_;
    if ($gid ne '') { $) = "$gid $gid"; POSIX::setgid($gid) or return }
    if ($uid ne '') { POSIX::setuid($uid) or return }
    return 1;
}

# Returns only on failure, with the error in $!. Descriptors above stderr close on exec.
sub become {
    my ($uid, $gid, $folder, $stdout, $stderr, $words, @rest) = @_;
    my @argv = splice @rest, 0, $words;
    $SIG{$_} = 'DEFAULT' for @ignored_signals, 'CHLD';
    POSIX::setsid();
    sysopen(my $in,  '/dev/null', O_RDONLY) or return;
    sysopen(my $out, $stdout,     O_WRONLY) or return;
    sysopen(my $err, $stderr,     O_WRONLY) or return;
    POSIX::dup2(fileno $in, 0);
    POSIX::dup2(fileno $out, 1);
    POSIX::dup2(fileno $err, 2);
    change_user($uid, $gid) or return;
    chdir $folder or return;
    %ENV = map { split /=/, $_, 2 } @rest;
    no warnings 'exec';
    exec { $argv[0] } @argv;
}

sub report_start {
    my ($pid) = @_;
    my $error = '';
    sysread delete $status_of{$pid}, $error, 16;
    return reply('started', $id_of{$pid}, $pid) if $error eq '';
    reply('failed', delete $id_of{$pid}, $error);
}

sub reap {
    while ((my $pid = waitpid -1, POSIX::WNOHANG) > 0) {
        my $how = $?;
        report_start($pid) if $status_of{$pid};
        reply('ended', delete $id_of{$pid}, $how >> 8, $how & 127) if $id_of{$pid};
    }
}

# The program has ended, for whatever reason: kills its commands and exits.
sub leave {
    kill 'KILL', -$_ for keys %id_of;
    my $ours = join '|', map { quotemeta } keys %markers;
    for (1 .. MOST_SWEEPS) {
        last if $ours eq '' or not sweep(qr/(?:\A|\0)SCANFARM_MARKER=(?:$ours)#/);
        select undef, undef, undef, SWEEP_S;
    }
    if (opendir my $pipes, $pipe_folder) {
        unlink map { "$pipe_folder/$_" } readdir $pipes;
        rmdir $pipe_folder;
    }
    POSIX::_exit(0);
}

# Kills the processes that have one of our markers. Returns their number, plus the processes that do not show their
# environment yet.
sub sweep {
    my ($ours) = @_;
    opendir my $processes, '/proc' or return 0;
    my $found = 0;
    for my $pid (grep { /\A\d+\z/ } readdir $processes) {
        my $environment = content("/proc/$pid/environ");
        if ($environment eq '') { $found += is_starting($pid) }
        elsif ($environment =~ $ours) { $found += kill 'KILL', $pid }
    }
    return $found;
}

# Whether the process is in the middle of an exec; see hasMarker in process-table.ts.
sub is_starting {
    my ($pid) = @_;
    my ($state, @fields) = split / /, content("/proc/$pid/stat") =~ s/.*\) //sr;
    return 0 if not defined $state or $state eq 'Z' or $fields[5] & KERNEL_THREAD;
    return 1 if $fields[22] eq '0';
    return content("/proc/$pid/cmdline") eq '' || content("/proc/$pid/environ") ne '' ? 1 : 0;
}

sub content {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/;
    return <$file> // '';
}
