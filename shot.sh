chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size=$1 --screenshot=$2 file://$PWD/$3 >/dev/null 2>&1
